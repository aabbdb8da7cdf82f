/** The marks of calls and frames, under the names that snapshots, recordings and `inspect --json` share. */
export interface Marks {
  stopped?: true;
  handled?: true;
  carriedOver?: true;
}

export interface CallMarks extends Marks {
  lane?: string;
  attempts?: number;
  sameTick?: true;
  dropped?: true;
  inexact?: string;
}

/** The marks that are set. Version 0.1.0 wrote `unreached` for `carriedOver`. */
export function marksOf(fields: Marks & { unreached?: true }): Marks {
  return {
    ...(fields.stopped === true ? { stopped: true } : {}),
    ...(fields.handled === true ? { handled: true } : {}),
    ...(fields.carriedOver === true || fields.unreached === true ? { carriedOver: true } : {}),
  };
}

/** The marks that a call has. */
export function callMarksOf(fields: CallMarks & { unreached?: true }): CallMarks {
  const { lane, attempts, sameTick, inexact } = fields;
  return {
    ...marksOf(fields),
    ...(fields.dropped === true ? { dropped: true } : {}),
    ...(lane === undefined ? {} : { lane }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(sameTick === undefined ? {} : { sameTick }),
    ...(inexact === undefined ? {} : { inexact }),
  };
}
