import { type CauseOptions, hasName, messageOf, named, RewindError } from "./base.js";

/** A model is to be told a schema whose library gives no JSON schema of it. */
export class JsonSchemaNotFoundError extends RewindError {
  static {
    named(this, "JsonSchemaNotFoundError");
  }

  /** What the schema is of: `promptAgent`, or `tool "<name>"`. */
  readonly owner: string;
  /** Library of the schema, by its Standard Schema name. */
  readonly vendor: string | undefined;

  constructor(
    about: { owner: string; remedy: string; vendor: string | undefined; install?: string | undefined },
    options: CauseOptions = {},
  ) {
    const { owner, remedy, vendor, install } = about;
    const library = vendor === undefined ? "its library" : `its library (${vendor})`;
    const reason = "cause" in options ? `: ${messageOf(options.cause)}` : "";
    super(
      `The model cannot be told the schema of ${owner}: ${library} gives no JSON schema of it${reason.replace(/\.$/, "")}. ` +
        `${install === undefined ? "Give" : `Install ${install}, or give`} one with ${remedy}.`,
      "ERR_REWIND_JSON_SCHEMA_NOT_FOUND",
      options,
    );
    this.owner = owner;
    this.vendor = vendor;
  }
}

export function isJsonSchemaNotFoundError(value: unknown): value is JsonSchemaNotFoundError {
  return hasName(value, "JsonSchemaNotFoundError");
}
