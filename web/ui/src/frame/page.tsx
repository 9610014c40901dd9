/** The outline of every page: title, where it is, what can be done here, and the content. */
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import type { ReactNode } from "react";
import { type Crumb, useTellPlace } from "./page-place";

export interface PageProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** The pages above this one; the top page has none. */
  readonly above?: readonly Crumb[];
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

const TOP: readonly Crumb[] = [];

export function Page({ title, description, above = TOP, actions, children }: PageProps) {
  useTellPlace(title, above);
  return (
    <ContentLayout
      header={
        <Header variant="h1" description={description} actions={actions}>
          {title}
        </Header>
      }
    >
      {children}
    </ContentLayout>
  );
}
