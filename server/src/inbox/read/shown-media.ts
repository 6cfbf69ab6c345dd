import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { SealedColumns } from '../../base/sealing/opened-values.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type { MediaDetails, MediaState } from '../media/media.ts'

/** What pages show of a file. */
export interface ShownMedia {
  id: string
  kind: MediaKind
  state: MediaState
  failure: string | null
  bytes: number | null
  hasPreview: boolean
  details: MediaDetails
}

/** With what is sealed as `Keyring.recall` takes it. */
export interface ShownMediaRow extends Omit<ShownMedia, 'details'> {
  sealed: string
}

export const shownMediaColumns = (sql: Sql) => sql`
  f.id,
  f.kind,
  f.state,
  f.failure,
  f.size_bytes::float8 as bytes,
  f.preview_stored_as is not null as "hasPreview",
  encode(f.details, 'base64') as sealed`

const sealedColumns: SealedColumns<MediaDetails> = {
  table: 'media',
  columns: ['details'],
  read: (details) => JSON.parse(details ?? '') as MediaDetails,
}

export function openShownMedia(keyring: Keyring, { sealed, ...row }: ShownMediaRow): ShownMedia {
  return { ...row, details: keyring.recall(sealedColumns, row.id, sealed) }
}
