/** Rows of PostgreSQL: numbers of 64 bits and more arrive as text. */

/** An entity as the driver gives it. */
export type Row<Entity> = {
  [Name in keyof Entity]: Entity[Name] extends bigint
    ? string
    : Entity[Name] extends bigint | null
      ? string | null
      : Entity[Name];
};

type BigintsOf<Entity> = {
  [Name in keyof Entity]: bigint extends Entity[Name] ? Name : never;
}[keyof Entity];

export function readRow<Entity extends object>(
  row: Row<Entity>,
  ...bigints: readonly BigintsOf<Entity>[]
): Entity {
  const read = { ...row } as Record<keyof Entity, unknown>;
  for (const name of bigints) {
    const text = read[name];
    read[name] = text === null ? null : BigInt(text as string);
  }
  return read as Entity;
}

/** A list of each column, for `unnest`. */
export function columnsOf<Entity, Name extends keyof Entity>(
  rows: readonly Entity[],
  ...names: readonly Name[]
): Entity[Name][][] {
  return names.map((name) => rows.map((row) => row[name]));
}
