import type { Channel, Connection } from '../../data/connections.ts'
import { isOtherServer } from '../../ui/other-server.ts'

const settings = {
  waba: ['name', 'numberId', 'accountId', 'appId', 'accessToken', 'appSecret', 'verifyToken', 'baseUrl', 'version'],
  partner: ['name', 'numberId', 'apiKey', 'signingSecret', 'baseUrl'],
  unofficial: ['name'],
  // It has a panel of its own.
  website: ['name'],
} as const satisfies Record<Channel, readonly string[]>

type SettingsField = (typeof settings)[Channel][number]
export type SettingsDraft = Record<SettingsField, string>

const secrets: readonly SettingsField[] = ['accessToken', 'appSecret', 'verifyToken', 'apiKey', 'signingSecret']

const optional: readonly SettingsField[] = ['accountId', 'appId']

/** Secrets that are sent to the platform. They must be re-entered when the address changes to another server. */
const sentToPlatform: readonly SettingsField[] = ['accessToken', 'apiKey']

export const fieldsOf = (channel: Channel): readonly SettingsField[] => settings[channel]
export const isSecret = (field: SettingsField): boolean => secrets.includes(field)

/** Returns the initial values of the form. Secrets are empty, since they cannot be read back. */
export function settingsOf(connection: Connection): SettingsDraft {
  const { id, name, accountId, appId, baseUrl, version } = connection
  // Until a number is chosen, the connection's own id takes its place.
  const numberId = connection.numberId === id ? '' : connection.numberId
  const ids = { accountId: accountId ?? '', appId: appId ?? '' }
  const shown = { name, numberId, ...ids, baseUrl: baseUrl ?? '', version: version ?? '' }
  return { ...shown, accessToken: '', appSecret: '', verifyToken: '', apiKey: '', signingSecret: '' }
}

/** Returns whether a secret must be re-entered: a stored secret belongs to the server it was entered for. */
export function mustReenter(field: SettingsField, connection: Connection, draft: SettingsDraft): boolean {
  return sentToPlatform.includes(field) && isOtherServer(connection.baseUrl ?? '', draft.baseUrl.trim())
}

/** Returns only changed fields that the channel has; a change of access makes the server check the connection again. */
export function changesOf(connection: Connection, draft: SettingsDraft): Partial<Record<SettingsField, string | null>> {
  const before = settingsOf(connection)
  const changed = fieldsOf(connection.channel).filter((field) => draft[field].trim() !== before[field])
  return Object.fromEntries(
    changed.map((field) => [
      field,
      optional.includes(field) && draft[field].trim() === '' ? null : draft[field].trim(),
    ]),
  )
}
