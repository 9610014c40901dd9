/**
 * The service's events, one stream per tab. A hidden tab gives its connection back, for a browser has six of them per
 * host; when the tab is seen again the stream says `gap`, and what is shown is read again.
 */
export type StreamEvent =
  | { readonly kind: "journal"; readonly cluster: string; readonly line: JournalLine }
  | { readonly kind: "change"; readonly id: string; readonly state: string }
  | { readonly kind: "tick"; readonly at: string; readonly problem: string | null }
  | { readonly kind: "gap" };

/** What the page uses of a journal line; the API's timeline has the rest. */
export interface JournalLine {
  readonly t: string;
  readonly at: string;
  readonly say: string;
  readonly key?: string;
  readonly stage?: string;
  readonly state?: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly msg?: string;
}

/** `open`: what is shown is kept fresh. `paused`: nobody looks. `lost`: since then it may be old. */
export type StreamState = "opening" | "open" | "paused" | "lost";

export interface StreamListener {
  event(event: StreamEvent): void;
  state(state: StreamState): void;
  /** The service does not let us in any more, or is not what it was: worth a look at who one is. */
  refused(): void;
}

const ADDRESS = "/api/v1/events";
const KINDS = ["journal", "change", "tick", "gap"] as const;
const HIDDEN_FOR = 15_000;
const COME_BACK = [500, 1000, 2000, 5000, 10_000] as const;

/** Returns what closes it. */
export function openStream(listener: StreamListener): () => void {
  let source: EventSource | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let wasOpen = false;

  function open() {
    clearTimeout(again);
    source?.close();
    const made = new EventSource(ADDRESS);
    source = made;
    made.onopen = () => {
      failures = 0;
      listener.state("open");
      if (wasOpen) listener.event({ kind: "gap" });
      wasOpen = true;
    };
    made.onerror = () => {
      listener.state("lost");
      // The browser comes back by itself after a broken connection, with the last id; not after a refusal.
      if (made.readyState !== EventSource.CLOSED) return;
      listener.refused();
      again = setTimeout(open, COME_BACK[Math.min(failures, COME_BACK.length - 1)]);
      failures += 1;
    };
    for (const kind of KINDS) {
      made.addEventListener(kind, (message: MessageEvent<string>) => {
        const event = parsed(kind, message.data);
        if (event !== null) listener.event(event);
      });
    }
  }

  function pause() {
    source?.close();
    source = null;
    clearTimeout(again);
    listener.state("paused");
  }

  function look() {
    clearTimeout(hiding);
    if (document.visibilityState === "hidden") hiding = setTimeout(pause, HIDDEN_FOR);
    else if (source === null) open();
  }

  document.addEventListener("visibilitychange", look);
  listener.state("opening");
  open();
  return () => {
    document.removeEventListener("visibilitychange", look);
    clearTimeout(hiding);
    clearTimeout(again);
    source?.close();
  };
}

function parsed(kind: StreamEvent["kind"], data: string): StreamEvent | null {
  try {
    const told: unknown = JSON.parse(data);
    return typeof told === "object" && told !== null ? ({ ...told, kind } as StreamEvent) : null;
  } catch {
    return null;
  }
}
