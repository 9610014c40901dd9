/** The new token, this once. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { TokenMade } from "../../api/schema";
import { t } from "../../texts";

export function MadeToken({ made, onClose }: { readonly made: TokenMade; readonly onClose: () => void }) {
  return (
    <Modal
      visible
      onDismiss={({ detail }) => detail.reason !== "overlay" && onClose()}
      header={t.tokens.made.title}
      closeAriaLabel={t.common.close}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onClose}>
            {t.common.done}
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="l">
        <Alert type="warning">{t.tokens.made.text}</Alert>
        <FormField label={t.tokens.made.token} stretch>
          <Copied text={made.token} />
        </FormField>
        <FormField label={t.tokens.made.use} stretch>
          <Copied text={`Authorization: Bearer ${made.token}`} />
        </FormField>
      </SpaceBetween>
    </Modal>
  );
}

function Copied({ text }: { readonly text: string }) {
  return (
    <span className="wrap-anywhere">
      <CopyToClipboard
        variant="inline"
        textToCopy={text}
        textToDisplay={<Box variant="code">{text}</Box>}
        copyButtonAriaLabel={t.common.copy}
        copySuccessText={t.common.copied}
        copyErrorText={t.common.copyFailed}
      />
    </span>
  );
}
