// The protocol's methods: each reads what the editor said and calls the desk.
import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
  type InitializeResponse,
  type McpServer,
} from '@agentclientprotocol/sdk';
import { version } from '@orrery/protocol/version';
import type { Asked, Desk, Opened } from './desk.ts';
import { answering, refused } from './refusal.ts';
import { MODE, modeOf } from './settings.ts';

const welcome = (): InitializeResponse => ({
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: 'orrery', title: 'Orrery', version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: false, audio: false, embeddedContext: true },
    mcpCapabilities: { http: false, sse: false },
    sessionCapabilities: { list: {}, resume: {}, close: {} },
  },
  authMethods: [],
});

type Folder = {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
};

/** The agent side of the protocol. Every failure is answered; none ends the connection. */
export const createAgent = (desk: Desk): AgentApp => {
  let capabilities: ClientCapabilities = {};
  const asked = ({ cwd, mcpServers = [], additionalDirectories = [] }: Folder, client: AgentContext): Asked => ({
    cwd,
    client,
    can: {
      notices: capabilities.session?.notices != null,
      forms: capabilities.elicitation?.form != null,
    },
    servers: mcpServers.map(({ name }) => name),
    folders: additionalDirectories,
  });
  /** What of an opened session is answered; it is told of from then on. */
  const answerOf = ({ talk, settings }: Opened) => {
    setImmediate(() => talk.open());
    return settings;
  };
  return withSettings(agent({ name: 'orrery' }), desk)
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return welcome();
    })
    .onRequest(methods.agent.authenticate, () => {
      throw RequestError.invalidParams(undefined, 'there is nothing to authenticate with: the command line is signed in');
    })
    .onRequest(
      methods.agent.session.new,
      answering(async ({ params, client }) => {
        const opened = await desk.begin(asked(params, client));
        return { sessionId: opened.talk.id, ...answerOf(opened) };
      }),
    )
    .onRequest(
      methods.agent.session.load,
      answering(async ({ params, client }) => answerOf(await desk.load(params.sessionId, asked(params, client), true))),
    )
    .onRequest(
      methods.agent.session.resume,
      answering(async ({ params, client }) => answerOf(await desk.load(params.sessionId, asked(params, client), false))),
    )
    .onRequest(
      methods.agent.session.list,
      answering(({ params }) => desk.list(params.cwd ?? null, params.cursor ?? null)),
    )
    .onRequest(
      methods.agent.session.close,
      answering(async ({ params }) => {
        await desk.leave(params.sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      answering(async ({ params, signal }) => {
        const talk = desk.talk(params.sessionId);
        const cancel = (): void => void talk.cancel().catch(() => undefined);
        signal.addEventListener('abort', cancel, { once: true });
        try {
          return await talk.prompt(params.prompt);
        } finally {
          signal.removeEventListener('abort', cancel);
        }
      }),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      await desk.talk(params.sessionId).cancel();
    });
};

/** What of an open session can be set. */
const withSettings = (app: AgentApp, desk: Desk): AgentApp =>
  app
    .onRequest(
      methods.agent.session.setMode,
      answering(async ({ params }) => {
        await desk.talk(params.sessionId).setMode(modeOf(params.modeId));
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setConfigOption,
      answering(async ({ params }) => {
        if (params.configId !== MODE) throw refused('There is no such option.', 'A session has the option "mode".');
        const session = await desk.talk(params.sessionId).setMode(modeOf(params.value));
        return { configOptions: (await desk.settings(session)).configOptions };
      }),
    );
