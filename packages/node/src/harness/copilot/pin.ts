import type { ProgramPin } from '../harness.ts';

const integrities = {
  'linux-x64': 'sha512-eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==',
  'linux-arm64': 'sha512-5rO0B2/AduCekrE+aUzipySKZxZY2b/tVRZ8Suy8ymPFNC0Q7HQiQ8DZhxj+3RhHR8rU2Z8KOJVAbtMlROX6+A==',
  'darwin-x64': 'sha512-n4jBdS+QxrXWiQ9v9tUBZUcJ0hlWVG75Qs3Gzo25BRzlWQSSd5eCNrfOVf4Cr95mAK/L54dne+8rSwASNRG7qA==',
  'darwin-arm64': 'sha512-M4Jwxvw9CzxQUVoAz4UFbwFw9SpjUXbMzD481ifFJ+o/GXYJy5+sYxWRSfGhPA9e/w4DlWxdpkSQFnagl/AYbA==',
} as const;

/** Copilot CLI as its platform packages: the native binary, without the launcher on Node. */
export const copilotPin: ProgramPin = {
  version: '1.0.102',
  packages: Object.entries(integrities).map(([platform, integrity]) => ({
    name: `@github/copilot-${platform}`,
    version: '1.0.102',
    platforms: [platform],
    integrity,
  })),
  executable: Object.fromEntries(
    Object.keys(integrities).map((platform) => [platform, `node_modules/@github/copilot-${platform}/copilot`]),
  ),
  runsOnNode: false,
};
