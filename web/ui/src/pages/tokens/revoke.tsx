/** The question before a token is taken back. */
import { api } from "../../api/client";
import type { TokenView } from "../../api/schema";
import { useNotices } from "../../live/notices";
import { Question } from "../../parts/question";
import { t } from "../../texts";

interface RevokeTokenProps {
  readonly token: TokenView;
  readonly onDone: (isRevoked: boolean) => void;
}

export function RevokeToken({ token, onDone }: RevokeTokenProps) {
  const { tell } = useNotices();
  const revoke = api.useMutation("delete", "/api/v1/tokens/{id}", {
    onSuccess() {
      tell({ id: "token revoked", type: "success", content: t.tokens.revoking.done(token.name) });
      onDone(true);
    },
  });
  return (
    <Question
      title={t.tokens.revoking.title(token.name)}
      yes={t.tokens.revoke}
      isPending={revoke.isPending}
      error={revoke.error}
      onYes={() => revoke.mutate({ params: { path: { id: token.id } } })}
      onNo={() => onDone(false)}
    >
      {t.tokens.revoking.text}
    </Question>
  );
}
