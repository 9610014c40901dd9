export const frame = {
  navigation: "Pages",
  openNavigation: "Open the list of pages",
  closeNavigation: "Close the list of pages",
  notices: "What happened",
  breadcrumbs: "Where you are",
  settings: "Appearance",
  mode: "Colours",
  modes: { system: "As the system", light: "Light", dark: "Dark" },
  density: "Density",
  densities: { comfortable: "Comfortable", compact: "Compact" },
  person: "Person",
  agent: "Agent",
  scopes: (names: string) => `May ${names}`,
  logOut: "Log out",
  more: "More",
  moreTitle: "All",
  nav: { fleet: "Clusters", changes: "Changes", access: "Access", tokens: "Tokens" },
  opening: "Opening InstantStart",
  notFound: { title: "There is no such page", text: "The address may be old or mistyped.", way: "See all clusters" },
  broken: {
    title: "This page broke",
    text: "That is our mistake. Nothing was changed, and the other pages go on working.",
    newVersion: "The pages were replaced by a newer version while this one was open.",
    details: "Details",
  },
  lost: (since: string) => `Not connected since ${since}. What you see may be old.`,
  lostWay: "The page comes back by itself as soon as the service answers.",
  oldData: (since: string) => `Some of this could not be read again. What is shown is from ${since}.`,
  blind: "The engine cannot do its work now",
  sessionOver: "Your session is over. Log in again to go on where you were.",
};

export const news = {
  open: (cluster: string) => `See ${cluster}`,
  held: (cluster: string, what: string) =>
    what === "" || what === "*"
      ? `${cluster} waits for a person's word`
      : `${cluster}: ${what} waits for a person's word`,
  unknown: (cluster: string, stage: string) => `${cluster}: nobody knows what became of something (${stage})`,
  stageFailed: (cluster: string, stage: string) => `${cluster}: ${stage} failed`,
};

export const problems = {
  wayOut: "What you can do",
  // Instead of HTTP's own words: by reason first, then by status.
  titles: {
    Unreachable: "The service cannot be reached",
    UnexpectedAnswer: "Something else answered instead of the service",
    PageError: "The page made a mistake",
  } as Record<string, string>,
  statuses: {
    400: "This cannot be read",
    401: "You are not logged in",
    403: "You may not do this",
    404: "This is not there",
    409: "Somebody else was faster",
    410: "This is gone",
    412: "It has changed since you read it",
    413: "This is too large",
    422: "This cannot be done as it is",
    429: "Too many requests",
    500: "The service made a mistake",
    503: "The service cannot do this now",
  } as Record<number, string>,
  other: "This did not work",
  unreachableWay: "See whether the service runs, and whether the port that you forward is still open.",
  expectedFound: (expected: string, found: string) => (found ? `${expected} (found ${found})` : expected),
};
