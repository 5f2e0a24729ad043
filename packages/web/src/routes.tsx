import { createRootRoute, createRoute, createRouter, type RouterHistory } from '@tanstack/react-router';
import { AccessPage } from './pages/access.tsx';
import { AgentsPage } from './pages/agents.tsx';
import { AuditPage } from './pages/audit.tsx';
import { BackendsPage } from './pages/backends.tsx';
import { EnvironmentPage } from './pages/environment.tsx';
import { EnvironmentsPage } from './pages/environments.tsx';
import { InboxPage } from './pages/inbox.tsx';
import { LoginPage } from './pages/login.tsx';
import { NewEnvironmentPage } from './pages/new-environment.tsx';
import { NewSessionPage } from './pages/new-session.tsx';
import { NewTaskPage } from './pages/new-task.tsx';
import { NodeFactsPage } from './pages/node.tsx';
import { NothingHere } from './pages/nothing-here.tsx';
import { PoliciesPage } from './pages/policies.tsx';
import { SalvagePage } from './pages/salvage.tsx';
import { SessionChangesPage } from './pages/session-changes.tsx';
import { SessionPage } from './pages/session.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { SettingsPage } from './pages/settings.tsx';
import { TaskChangesPage } from './pages/task-changes.tsx';
import { TaskPage } from './pages/task.tsx';
import { TasksPage } from './pages/tasks.tsx';
import { TerminalsPage } from './pages/terminals.tsx';
import { UsagePage } from './pages/usage.tsx';

/** A router of all pages, inside of something. Every page has an address: the browser's own, or one in a history of its own. */
export const makeRouter = (around: () => React.ReactNode, history?: RouterHistory) => {
  const root = createRootRoute({ component: around, notFoundComponent: NothingHere });
  const page = (path: string, component: () => React.ReactNode) => createRoute({ getParentRoute: () => root, path, component });
  const pages = [
    page('/', InboxPage),
    page('/login', LoginPage),
    page('/environments', EnvironmentsPage),
    page('/environments/new', NewEnvironmentPage),
    page('/environments/$id', EnvironmentPage),
    page('/sessions', SessionsPage),
    page('/sessions/new', NewSessionPage),
    page('/sessions/$name', SessionPage),
    page('/sessions/$name/changes', SessionChangesPage),
    page('/tasks', TasksPage),
    page('/tasks/new', NewTaskPage),
    page('/tasks/$name', TaskPage),
    page('/tasks/$name/changes', TaskChangesPage),
    page('/terminals/$name', TerminalsPage),
    page('/node', NodeFactsPage),
    page('/agents', AgentsPage),
    page('/backends', BackendsPage),
    page('/policies', PoliciesPage),
    page('/usage', UsagePage),
    page('/salvage', SalvagePage),
    page('/audit', AuditPage),
    page('/access', AccessPage),
    page('/settings', SettingsPage),
  ];
  return createRouter({
    routeTree: root.addChildren(pages),
    defaultPreload: false,
    ...(history === undefined ? {} : { history }),
  });
};
