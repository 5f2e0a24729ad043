import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './frame.tsx';
import { AgentsPage } from './pages/agents.tsx';
import { BackendsPage } from './pages/backends.tsx';
import { InboxPage } from './pages/inbox.tsx';
import { LoginPage } from './pages/login.tsx';
import { NodeFactsPage } from './pages/node.tsx';
import { NothingHere } from './pages/nothing-here.tsx';
import { SessionChangesPage } from './pages/session-changes.tsx';
import { SessionPage } from './pages/session.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { TaskChangesPage } from './pages/task-changes.tsx';
import { TaskPage } from './pages/task.tsx';
import { TasksPage } from './pages/tasks.tsx';
import { TerminalsPage } from './pages/terminals.tsx';

const root = createRootRoute({ component: Frame, notFoundComponent: NothingHere });
const page = (path: string, component: () => React.ReactNode) => createRoute({ getParentRoute: () => root, path, component });

/** Every page has an address. */
export const router = createRouter({
  routeTree: root.addChildren([
    page('/', InboxPage),
    page('/login', LoginPage),
    page('/sessions', SessionsPage),
    page('/sessions/$name', SessionPage),
    page('/sessions/$name/changes', SessionChangesPage),
    page('/tasks', TasksPage),
    page('/tasks/$name', TaskPage),
    page('/tasks/$name/changes', TaskChangesPage),
    page('/terminals/$name', TerminalsPage),
    page('/node', NodeFactsPage),
    page('/agents', AgentsPage),
    page('/backends', BackendsPage),
  ]),
  defaultPreload: false,
});
