/** A new cluster, step by step: it ends in one change, whose page shows the plan and then leads to the progress. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Wizard from "@cloudscape-design/components/wizard";
import { useLayoutEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import { everyPage, LARGE, useEveryPage } from "../../api/lists";
import { useSession } from "../../api/session";
import { Page } from "../../frame/page";
import { ProblemAlert } from "../../frame/problem-alert";
import { MACHINES } from "../../parts/machines/machine";
import { useProposing, Why } from "../../parts/proposal";
import { Question } from "../../parts/question";
import { t } from "../../texts";
import { ClusterStep, MachinesStep, StorageStep } from "./steps";
import { documentsOf, editsOf, flawsOf, isFine, REGION, type Wish, yamlOf } from "./wish";

const words = t.create;
const ABOVE = [{ text: t.fleet.title, href: "/" }];
const VERSION = "1.33"; // where EKS cannot be asked which one it takes by itself

export function Component() {
  const { may } = useSession();
  return (
    <Page title={words.title} description={words.description} above={ABOVE}>
      {may("propose") ? <Creating /> : <Alert type="info">{t.common.missingScope("propose")}</Alert>}
    </Page>
  );
}

/** What was not touched yet is as the account has it. */
type Touched = Partial<Wish>;

function Creating() {
  const navigate = useNavigate();
  const proposing = useProposing();
  const fleet = useEveryPage(api.useInfiniteQuery("get", "/api/v1/clusters", LARGE, everyPage));
  const [touched, setTouched] = useState<Touched>({});
  const [why, setWhy] = useState("");
  const [step, setStep] = useState(0);
  const [tried, setTried] = useState(-1);
  const [isLeaving, setLeaving] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  // The page has its heading; that of a step, which the wizard makes one of a page, stands below it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step has a heading
  useLayoutEffect(() => place.current?.querySelector("h1")?.setAttribute("aria-level", "2"), [step]);
  const region = touched.region !== undefined && REGION.test(touched.region) ? touched.region : undefined;
  const offers = api.useQuery("get", "/api/v1/offerings", { params: { query: region ? { region } : {} } });
  const wish: Wish = {
    name: "",
    account: offers.data?.account ?? "",
    region: offers.data?.region ?? "",
    version: offers.data?.kubernetes_versions?.find((one) => one.default)?.version ?? VERSION,
    group: "workers",
    machines: MACHINES,
    storage: "own",
    bucket: "",
    ...touched,
  };
  const flaws = flawsOf(
    wish,
    (fleet.data ?? []).map(({ cluster }) => cluster),
    offers.data,
  );
  const shown = (number: number) => (tried >= number ? flaws : { machines: {} });
  const shared = {
    wish,
    offers: offers.data,
    isBlind: offers.isError,
    onChange: (more: Touched) => setTouched({ ...touched, ...more }),
  };

  function go(next: number) {
    const first = [0, 1, 2].find((number) => number < next && !isFine(flaws, number));
    setTried(Math.max(tried, first ?? next - 1));
    setStep(first ?? next);
  }

  const leave = () => void navigate("/");
  const isBegun = Object.keys(touched).length > 0 || why !== "";
  const wizard = (
    <Wizard
      activeStepIndex={step}
      onNavigate={({ detail }) => go(detail.requestedStepIndex)}
      onCancel={() => (isBegun ? setLeaving(true) : leave())}
      onSubmit={() =>
        proposing.mutate({
          body: { title: words.change(wish.name), why: why.trim(), base: null, edits: editsOf(wish), direct: false },
        })
      }
      isLoadingNextStep={proposing.isPending}
      i18nStrings={{
        stepNumberLabel: words.step,
        collapsedStepsLabel: words.collapsed,
        skipToButtonLabel: ({ title }) => words.skipTo(title),
        navigationAriaLabel: words.navigation,
        cancelButton: t.common.cancel,
        previousButton: words.previous,
        nextButton: words.next,
        submitButton: words.submit,
        optional: t.proposal.optional,
      }}
      steps={[
        {
          title: words.steps.cluster.title,
          description: words.steps.cluster.text,
          content: <ClusterStep {...shared} flaws={shown(0)} />,
        },
        {
          title: words.steps.machines.title,
          description: words.steps.machines.text,
          content: <MachinesStep {...shared} flaws={shown(1)} />,
        },
        {
          title: words.steps.storage.title,
          description: words.steps.storage.text,
          content: <StorageStep {...shared} flaws={shown(2)} />,
        },
        {
          title: words.steps.review.title,
          description: words.steps.review.text,
          content: (
            <SpaceBetween size="l">
              {proposing.isError && <ProblemAlert error={proposing.error} />}
              <Container header={<Header variant="h2">{words.yaml}</Header>}>
                <pre className="plain-text">{yamlOf(documentsOf(wish))}</pre>
              </Container>
              <Container>
                <SpaceBetween size="m">
                  <Why value={why} onChange={setWhy} />
                  <Box>{words.after}</Box>
                </SpaceBetween>
              </Container>
            </SpaceBetween>
          ),
        },
      ]}
    />
  );
  return (
    <div ref={place}>
      {wizard}
      {isLeaving && (
        <Question title={words.leave.title} yes={words.leave.yes} onYes={leave} onNo={() => setLeaving(false)}>
          {words.leave.text}
        </Question>
      )}
    </div>
  );
}
