// What a person wrote in the editor as one text: links by their path, embedded files with where they are from.
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { acpLimits } from './limits.ts';
import type { Place } from './place.ts';
import { refused } from './refusal.ts';

const fence = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  return '`'.repeat(longest + 1);
};

const lineOf = (uri: string): string => {
  const [, lines] = /#L(\d+(?:[-:]L?\d+)?)$/.exec(uri) ?? [];
  return lines === undefined ? '' : ` (lines ${lines.replace(/[:L]+/g, '-').replace(/-+/g, '-')})`;
};

const textOf = (block: ContentBlock, place: Place): string => {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `${place.inwardUri(block.uri)}${lineOf(block.uri)}`;
    case 'resource': {
      const { resource } = block;
      const from = `${place.inwardUri(resource.uri)}${lineOf(resource.uri)}`;
      if (!('text' in resource))
        throw refused(`The embedded file ${from} is not text.`, 'A prompt takes text, links and embedded text.');
      const mark = fence(resource.text);
      return `\n\nFrom the editor, ${from}:\n${mark}\n${resource.text}\n${mark}\n`;
    }
    default:
      throw refused(
        `A prompt cannot have ${block.type} in it.`,
        'It takes text, links and embedded text; the capabilities say so.',
      );
  }
};

/** @throws OrreryError for what cannot be put into words, an empty prompt, or one that is too long */
export const promptText = (blocks: readonly ContentBlock[], place: Place): string => {
  const text = blocks.map((block) => textOf(block, place)).join('');
  if (text.trim() === '') throw refused('The prompt is empty.', 'There is something to say in each prompt.');
  if (text.length > acpLimits.promptChars)
    throw refused('The prompt is too long.', `It has at most ${acpLimits.promptChars} characters.`, 'Link files instead.');
  return text;
};
