/** Version of every package of this repository; read by the fast path of `orrery --version`, hence no imports. */
export const version = '0.1.0';

/** Version of the HTTP API (`/api/v1`). */
export const apiVersion = 1;

/** Version of the CLI's JSON envelope. */
export const envelopeVersion = 1;
