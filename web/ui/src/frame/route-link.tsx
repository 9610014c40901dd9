/** Links between pages: real addresses, followed without loading the page anew. */
import Button, { type ButtonProps } from "@cloudscape-design/components/button";
import Link, { type LinkProps } from "@cloudscape-design/components/link";
import { useHref, useNavigate } from "react-router";

interface Followed {
  readonly detail: { readonly href?: string; readonly external?: boolean };
  preventDefault(): void;
}

/** For `onFollow` of any Cloudscape component. */
export function useFollow(): (event: Followed) => void {
  const navigate = useNavigate();
  return (event) => {
    const { href, external } = event.detail;
    if (href === undefined || external === true || !href.startsWith("/")) return;
    event.preventDefault();
    void navigate(href);
  };
}

export function RouteLink({ to, ...props }: Omit<LinkProps, "href" | "onFollow"> & { readonly to: string }) {
  const follow = useFollow();
  return <Link {...props} href={useHref(to)} onFollow={follow} />;
}

export function RouteButton({ to, ...props }: Omit<ButtonProps, "href" | "onFollow"> & { readonly to: string }) {
  const follow = useFollow();
  return <Button {...props} href={useHref(to)} onFollow={follow} />;
}
