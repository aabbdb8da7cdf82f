import { messageOf, named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";

/** A schema cannot be sent to a model: its library provides no JSON schema for it. */
export class JsonSchemaNotFoundError extends RewindError {
  /** The owner of the schema: `promptAgent`, or `tool "<name>"`. */
  readonly owner: string;
  /** Standard Schema name of the library. */
  readonly vendor: string | undefined;

  constructor(
    about: { owner: string; remedy: string; vendor: string | undefined; install?: string | undefined },
    options: CauseOptions = {},
  ) {
    const { owner, remedy, vendor, install } = about;
    const library = vendor === undefined ? "its library" : `its library (${vendor})`;
    const reason = "cause" in options ? `: ${messageOf(options.cause)}` : "";
    super(
      `The schema of ${owner} cannot be sent to the model: ${library} provides no JSON schema for it${reason.replace(/\.$/, "")}. ` +
        `${install === undefined ? "Pass" : `Install ${install}, or pass`} one with ${remedy}.`,
      "ERR_REWIND_JSON_SCHEMA_NOT_FOUND",
      options,
    );
    this.owner = owner;
    this.vendor = vendor;
  }
}

export const isJsonSchemaNotFoundError: ErrorGuard<JsonSchemaNotFoundError> = named(
  JsonSchemaNotFoundError,
  "JsonSchemaNotFoundError",
);
