/** The door: behind it somebody is logged in, and what they see is kept fresh. */
import { Navigate, useLocation } from "react-router";
import { asProblem } from "../api/problems";
import { SessionProvider, useWho } from "../api/session";
import { Live } from "../live/live";
import { NoticesProvider } from "../live/notices";
import { Opening } from "./opening";
import { PlaceProvider } from "./page-place";
import { ProblemAlert } from "./problem-alert";
import { Shell } from "./shell";

/** What the log-in page is told: where somebody wanted to go, and whether they were in before. */
export interface LoginState {
  readonly from: string;
  readonly over: boolean;
}

export function SignedIn() {
  const { data: who, error, refetch } = useWho();
  const { pathname, search } = useLocation();
  if (error !== null && asProblem(error).status === 401) {
    const state: LoginState = { from: `${pathname}${search}`, over: who !== undefined };
    return <Navigate to="/login" replace state={state} />;
  }
  if (who === undefined) {
    if (error === null) return <Opening whole />;
    return (
      <main className="alone">
        <ProblemAlert error={error} onRetry={() => void refetch()} />
      </main>
    );
  }
  return (
    <SessionProvider who={who}>
      <NoticesProvider>
        <Live>
          <PlaceProvider>
            <Shell />
          </PlaceProvider>
        </Live>
      </NoticesProvider>
    </SessionProvider>
  );
}
