import { OrreryError } from '@orrery/protocol/errors';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createCommands } from './commands/registry.ts';
import { CommandsContext } from './commands/use-commands.ts';
import { Frame } from './frame.tsx';
import { makeRouter } from './routes.tsx';
import { registerWorker } from './state/needs.ts';
import { createLive, followNode, LiveContext } from './state/live.ts';
import './styles.css';

/** Answers that are the same a moment later. */
const final: readonly string[] = ['not_found', 'unauthenticated', 'forbidden', 'rate_limited'];

/** Once more where nobody answered; an answer that says no is one. */
const mayRetry = (failures: number, error: unknown): boolean =>
  failures < 1 && !(error instanceof OrreryError && final.includes(error.code));

const queries = new QueryClient({
  // What a page shows is the node's word; events say when to ask again.
  defaultOptions: { queries: { staleTime: 30_000, retry: mayRetry, refetchOnWindowFocus: true } },
});

const live = createLive();
if (location.pathname !== '/login') followNode(queries, live);
registerWorker();

const commands = createCommands();
const router = makeRouter(Frame);

const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <LiveContext value={live}>
          <CommandsContext value={commands}>
            <RouterProvider router={router} />
          </CommandsContext>
        </LiveContext>
      </QueryClientProvider>
    </StrictMode>,
  );
