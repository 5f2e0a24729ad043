import { createProviders, type Provider } from '../broker/index.ts';
import type { Config } from '../config/config.ts';
import type { Secrets } from '../config/secrets.ts';

/** The operator's MCP server of a name as the configuration says it now, with its credential; null: there is none. */
export const mcpServer =
  ({ config, secrets }: { readonly config: Config; readonly secrets: Pick<Secrets, 'read'> }) =>
  (name: string): Provider | null => {
    const { mcp } = config.current();
    const found = Object.hasOwn(mcp, name) ? mcp[name] : undefined;
    if (found === undefined) return null;
    const { url: baseUrl, keyStyle, apiKey: key, headers } = found;
    const server = { baseUrl, keyStyle, headers, ...(key === undefined ? {} : { key }) };
    return createProviders({ [name]: server }, secrets.read).find(name);
  };
