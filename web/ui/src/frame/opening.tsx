/** While a page or the log-in is on its way. Told only when it takes a moment, so that nothing flickers. */
import Box from "@cloudscape-design/components/box";
import Spinner from "@cloudscape-design/components/spinner";
import { useEffect, useState } from "react";
import { t } from "../texts";

const PATIENCE = 200; // milliseconds

export function Opening({ whole = false }: { readonly whole?: boolean }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), PATIENCE);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong) return null;
  return (
    <div className={whole ? "opening" : undefined}>
      <Box textAlign="center" padding="l" color="text-status-inactive">
        <Spinner size="large" /> {t.frame.opening}
      </Box>
    </div>
  );
}
