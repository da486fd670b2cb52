// Schemas of answers: JSON Schema, or any Standard Schema that can describe itself as JSON Schema, as zod 4 does.

/** JSON Schema as plain data. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/**
 * A schema of a library that follows Standard Schema (standardschema.dev) and offers JSON Schema: zod 4, ArkType, Valibot with its JSON
 * Schema extension, and others. Typed structurally, so that none of them is needed.
 */
export interface StandardSchema<Output = unknown> {
  /** Where Standard Schema keeps it. */
  readonly "~standard": {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** The library that made it. */
    readonly vendor: string;
    /** For type inference alone. */
    readonly types?:
      | {
          /** What it takes. */
          readonly input: unknown;
          /** What it yields. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** The form of an answer. */
export type AnswerSchema = JSONSchema | StandardSchema;

/**
 * The type of an answer with this schema. Answers are checked and not transformed, so it is what the schema takes; where that is not known,
 * what it yields. Unknown for JSON Schema.
 */
export type AnswerData<Form> = Form extends {
  readonly "~standard": { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly input: infer Input; readonly output: infer Output }
    ? unknown extends Input
      ? Output
      : Input
    : unknown
  : unknown;

/**
 * A schema of this package, which needs no library to be used. It also follows Standard Schema, so libraries that take schemas take it.
 * Fields that a newer version adds are dropped, not refused.
 */
export interface Schema<Output> {
  /** The value, checked. Throws an error whose message lists what is wrong. */
  parse(value: unknown): Output;
  /** The value, checked, or what is wrong with it. */
  safeParse(value: unknown): SchemaResult<Output>;
  /** For libraries that take any Standard Schema. */
  readonly "~standard": {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** The library behind it. */
    readonly vendor: string;
    /** Checks a value. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** For type inference alone; absent at run time. */
    readonly types?:
      | {
          /** Anything may be checked. */
          readonly input: unknown;
          /** What a checked value is. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** What `safeParse` returns. */
export type SchemaResult<Output> =
  | {
      /** The value fits. */
      readonly success: true;
      /** The checked value. */
      readonly data: Output;
      /** Only where the value does not fit. */
      readonly error?: undefined;
    }
  | {
      /** The value does not fit. */
      readonly success: false;
      /** Only where the value fits. */
      readonly data?: undefined;
      /** What is wrong. */
      readonly error: SchemaError;
    };

/** Why a value does not fit a schema. */
export interface SchemaError extends Error {
  /** Every problem. */
  readonly issues: readonly SchemaIssue[];
}

/** One problem of a value. */
export interface SchemaIssue {
  /** What is wrong. */
  readonly message: string;
  /** Where: the keys from the outside in. */
  readonly path: readonly PropertyKey[];
}

/** What `validate` of a Standard Schema returns. */
export type StandardResult<Output> =
  | {
      /** The checked value. */
      readonly value: Output;
      /** Only where the value does not fit. */
      readonly issues?: undefined;
    }
  | {
      /** What is wrong. */
      readonly issues: readonly StandardIssue[];
    };

/** One problem of a value, as Standard Schema describes it. */
export interface StandardIssue {
  /** What is wrong. */
  readonly message: string;
  /** Where: the keys from the outside in. */
  readonly path?: readonly (PropertyKey | StandardPathSegment)[] | undefined;
}

/** A key with what a library knows about it. */
export interface StandardPathSegment {
  /** The key. */
  readonly key: PropertyKey;
}
