import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";

const client = new QueryClient({ defaultOptions: { queries: { refetchOnWindowFocus: false } } });

/** Lets the components below use queries; a part of the client that is loaded with the first of them. */
export function Queries({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
