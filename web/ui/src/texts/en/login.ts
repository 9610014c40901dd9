export const login = {
  title: "Log in",
  entering: "Logging in",
  failed: "This does not log you in",
  how: "On the machine that runs InstantStart, ask for a one-time link and open it here. It is good for ten minutes.",
  command: "instantstart login-link",
  code: "Link or token",
  codeHint: "If the link opens in another browser, paste it here. A token of yours does too.",
  codeBad: "This is neither a log-in link nor a token.",
  submit: "Log in",
};
