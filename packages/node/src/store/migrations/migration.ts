/** One step of the schema. `number` counts from 1 without gaps; `sql` runs in one transaction with its record. */
export type Migration = { readonly number: number; readonly name: string; readonly sql: string };
