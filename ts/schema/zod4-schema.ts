/** The part of a zod 4 schema that the conversion reads. */
export interface Zod4Schema {
  readonly _zod: {
    readonly def: Zod4Def;
    readonly pattern?: RegExp;
    readonly traits?: ReadonlySet<string>;
  };
  readonly description?: unknown;
}

export interface Zod4Def extends Readonly<Record<string, any>> {
  readonly type: string;
}
