/** The end of what was read of a long list: more is read when it comes near, and by its button. */
import Button from "@cloudscape-design/components/button";
import { useEffect, useRef } from "react";

interface MoreProps {
  readonly text: string;
  readonly isPending: boolean;
  readonly onMore: () => unknown;
}

const NEAR = "600px";

export function More({ text, isPending, onMore }: MoreProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isPending || place.current === null) return;
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && onMore(), { rootMargin: NEAR });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isPending, onMore]);
  return (
    <div ref={place}>
      <Button loading={isPending} onClick={() => onMore()}>
        {text}
      </Button>
    </div>
  );
}
