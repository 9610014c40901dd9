export const login = {
  title: "Log in",
  entering: "Logging in",
  linkFailed: "This link does not log you in",
  how: "On the machine that runs InstantStart, ask for a one-time link and open it here. It is good for ten minutes.",
  command: "instantstart login-link",
  code: "Link or code",
  codeHint: "If the link opens in another browser, paste it here.",
  codeBad: "A code has 20 to 100 letters, digits, - and _. A token is not a code.",
  submit: "Log in",
};
