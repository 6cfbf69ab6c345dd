import type { IndexedTable, SealedTable } from '../base/sealing/keyed-table.ts'
import { emailOf, tokenOf } from './people/invitations.ts'
import { totpSecretOf } from './sign-in/second-factor.ts'
import { emailIndex, openPerson, personOf } from './users/users.ts'

export const sealedAccessTables: readonly SealedTable[] = [
  {
    table: 'users',
    keysOf: 'instance',
    key: ['id'],
    places: { person: ({ id }) => personOf(id), totp_secret: ({ id }) => totpSecretOf(id) },
  },
  {
    table: 'invitations',
    keysOf: 'workspace',
    key: ['id'],
    places: { email: ({ id }) => emailOf(id), token: ({ id }) => tokenOf(id) },
  },
]

export const indexedAccessTables: readonly IndexedTable[] = [
  {
    table: 'users',
    keysOf: 'instance',
    key: ['id'],
    reads: ['person'],
    indexes: (keyring, { id, person }) => ({
      email_index: emailIndex(keyring, openPerson(keyring, id, person).email),
      index_version: keyring.indexVersion,
    }),
  },
]
