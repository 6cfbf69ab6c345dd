import type { DbOptions } from '../../../base/db.ts'
import type { MasterKeys } from '../../../base/sealing/vault.ts'
import type { ArrangedAnswer, ArrangedQuery } from './arranged-query.ts'
import type { IndexShape } from './memory-index.ts'
import type { IndexAnswer, IndexQuery } from './query.ts'
import type { Held } from './segment.ts'

/** What the worker of the indexes is started with. */
export interface SearchWorkerSettings {
  db: DbOptions
  masterKeys: MasterKeys
  limits: MemoryIndexLimits
}

export interface MemoryIndexLimits {
  /** What all indexes together may take. */
  maxBytes: number
  /** An index that nobody asked for this long is dropped. */
  idleMs: number
  /** Fewer leads are searched in the order of their values without an index of texts. */
  minSearched: number
  shape: IndexShape
}

/** The indexes that answer lists in order of a time. */
export type Timely = Exclude<Held, 'values'>

/** `nowMs` is the service's time, which may be another than the machine's. */
export type Question =
  | { kind: 'find'; number: number; workspaceId: string; holds: Timely; query: IndexQuery; nowMs: number }
  | { kind: 'arrange'; number: number; workspaceId: string; query: ArrangedQuery; nowMs: number }
  | { kind: 'warm'; number: number; workspaceId: string; holds: Held; nowMs: number }
  | { kind: 'tidy'; nowMs: number }
  | { kind: 'use-master-key'; masterKey: Uint8Array }
  | { kind: 'stop' }

export type Reply =
  /** A null answer to `find` is no answer; `exists` tells whether there is an index to ask again. */
  | { kind: 'answer'; number: number; answer: IndexAnswer | ArrangedAnswer | null; exists: boolean }
  | { kind: 'built'; workspaceId: string; ms: number }
  | { kind: 'trouble'; workspaceId: string; code: string }
  /** After a `tidy` that left no index. */
  | { kind: 'empty' }
