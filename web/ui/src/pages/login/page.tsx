/** Log-in by a one-time link: its code stands behind the #, which browsers send to nobody; or is pasted here. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { api } from "../../api/client";
import { sessionQuery } from "../../api/session";
import { Opening } from "../../frame/opening";
import { ProblemAlert } from "../../frame/problem-alert";
import type { LoginState } from "../../frame/signed-in";
import { t } from "../../texts";
import { codeOf } from "./code";

export function Component() {
  const { hash, state } = useLocation();
  const { from = "/", over = false } = (state ?? {}) as Partial<LoginState>;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const [isTried, setTried] = useState(false);
  const logIn = api.useMutation("post", "/api/v1/session", {
    onSuccess(who) {
      queries.setQueryData(sessionQuery.queryKey, who);
      void navigate(from, { replace: true });
    },
  });
  const { mutate } = logIn;
  const used = useRef("");

  useEffect(() => {
    document.title = `${t.login.title} · ${t.common.product}`;
    void import("../fleet/page"); // where most people go next
  }, []);

  useEffect(() => {
    const code = codeOf(hash);
    if (hash === "" || used.current === hash) return;
    used.current = hash; // it is good for one use, also where effects run twice
    void navigate("/login", { replace: true, state }); // the code stays in no history
    if (code !== null) mutate({ body: { code } });
    else setTried(true);
  }, [hash, mutate, navigate, state]);

  const code = codeOf(text);
  const isBad = isTried && code === null;

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (code !== null) mutate({ body: { code } });
  }

  if (logIn.isSuccess || (logIn.isPending && text === "")) return <Opening whole />;
  return (
    <main className="alone">
      <form onSubmit={submit}>
        <Form
          header={
            <Header variant="h1">
              {t.common.product}: {t.login.title}
            </Header>
          }
          actions={
            <Button variant="primary" formAction="submit" loading={logIn.isPending}>
              {t.login.submit}
            </Button>
          }
        >
          <SpaceBetween size="m">
            {over && <Alert type="info">{t.frame.sessionOver}</Alert>}
            {logIn.isError && <ProblemAlert error={logIn.error} title={t.login.failed} />}
            <Container>
              <SpaceBetween size="l">
                <div>
                  <Box margin={{ bottom: "xs" }}>{t.login.how}</Box>
                  <CopyToClipboard
                    variant="inline"
                    textToCopy={t.login.command}
                    textToDisplay={<Box variant="code">{t.login.command}</Box>}
                    copyButtonAriaLabel={t.common.copy}
                    copySuccessText={t.common.copied}
                    copyErrorText={t.common.copyFailed}
                  />
                </div>
                <FormField
                  label={t.login.code}
                  description={t.login.codeHint}
                  errorText={isBad ? t.login.codeBad : undefined}
                  stretch
                >
                  <Input
                    value={text}
                    onChange={({ detail }) => setText(detail.value)}
                    autoComplete="one-time-code"
                    spellcheck={false}
                    autoFocus
                    type="password"
                  />
                </FormField>
              </SpaceBetween>
            </Container>
          </SpaceBetween>
        </Form>
      </form>
    </main>
  );
}
