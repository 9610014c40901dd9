/** The application: words for Cloudscape's own parts, the store of what was read, and the pages. */
import I18nProvider from "@cloudscape-design/components/i18n";
import messages from "@cloudscape-design/components/i18n/messages/all.en";
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { createBrowserRouter, type RouteObject, RouterProvider } from "react-router";
import { makeQueryClient } from "./api/client";
import { Broken } from "./frame/broken";
import { Opening } from "./frame/opening";
import { SignedIn } from "./frame/signed-in";
import { loginPage, notFoundPage, type PageEntry, pages } from "./pages";
import { t } from "./texts";

export function routes(): RouteObject[] {
  return [
    route(loginPage),
    { element: <SignedIn />, errorElement: <Broken />, children: [...pages, notFoundPage].map(route) },
  ];
}

function route({ path, load }: PageEntry): RouteObject {
  const Shown = lazy(async () => ({ default: (await load()).Component }));
  const element = (
    <Suspense fallback={<Opening whole={path === loginPage.path} />}>
      <Shown />
    </Suspense>
  );
  return { path, element, errorElement: <Broken /> };
}

export function App({
  queries = makeQueryClient(),
  router = createBrowserRouter(routes()),
}: {
  readonly queries?: QueryClient;
  readonly router?: ReturnType<typeof createBrowserRouter>;
}) {
  return (
    <I18nProvider locale={t.locale} messages={[messages]}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  );
}
