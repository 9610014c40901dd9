/** Tokens: which there are, making one (shown once), taking one back. */
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { useMemo, useState } from "react";
import { api } from "../../api/client";
import { everyPage, LARGE, useEveryPage } from "../../api/lists";
import type { TokenMade, TokenView } from "../../api/schema";
import { useSession } from "../../api/session";
import { Page } from "../../frame/page";
import { ProblemAlert } from "../../frame/problem-alert";
import { Listing } from "../../parts/listing";
import { t } from "../../texts";
import { columnsOf } from "./columns";
import { CreateToken } from "./create";
import { MadeToken } from "./made";
import { RevokeToken } from "./revoke";

export function Component() {
  const { may } = useSession();
  if (may("operate")) return <Tokens />;
  return (
    <Page title={t.tokens.title} description={t.tokens.description}>
      <Alert type="info">{t.common.missingScope("operate")}</Alert>
    </Page>
  );
}

function Tokens() {
  const tokens = useEveryPage(api.useInfiniteQuery("get", "/api/v1/tokens", LARGE, everyPage));
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<TokenMade | null>(null);
  const [revoked, setRevoked] = useState<TokenView | null>(null);
  const columns = useMemo(() => columnsOf(setRevoked), []);
  const create = (
    <Button variant="primary" onClick={() => setCreating(true)}>
      {t.tokens.create}
    </Button>
  );
  return (
    <Page title={t.tokens.title} description={t.tokens.description} actions={tokens.data?.length ? create : undefined}>
      {tokens.data === undefined && tokens.error ? (
        <ProblemAlert error={tokens.error} onRetry={() => void tokens.refetch()} />
      ) : (
        <Listing
          title={t.tokens.table}
          items={tokens.data ?? []}
          isLoading={tokens.data === undefined}
          columns={columns}
          trackBy={(token) => token.id}
          searchText={t.tokens.search}
          matches={t.tokens.matches}
          empty={{ title: t.tokens.empty.title, text: t.tokens.empty.text, action: create }}
          keep="tokens"
        />
      )}
      {isCreating && (
        <CreateToken
          onDone={(token) => {
            setCreating(false);
            setMade(token);
            if (token !== null) void tokens.refetch();
          }}
        />
      )}
      {made !== null && <MadeToken made={made} onClose={() => setMade(null)} />}
      {revoked !== null && (
        <RevokeToken
          token={revoked}
          onDone={(isRevoked) => {
            setRevoked(null);
            if (isRevoked) void tokens.refetch();
          }}
        />
      )}
    </Page>
  );
}
