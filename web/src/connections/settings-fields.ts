import type { Channel, Connection } from './queries.ts'

const settings = {
  waba: ['name', 'numberId', 'accountId', 'accessToken', 'appSecret', 'verifyToken', 'baseUrl', 'version'],
  partner: ['name', 'numberId', 'apiKey', 'signingSecret', 'baseUrl'],
  unofficial: ['name'],
} as const satisfies Record<Channel, readonly string[]>

export type SettingsField = (typeof settings)[Channel][number]
export type SettingsDraft = Record<SettingsField, string>

const secrets: readonly SettingsField[] = ['accessToken', 'appSecret', 'verifyToken', 'apiKey', 'signingSecret']

export const fieldsOf = (channel: Channel): readonly SettingsField[] => settings[channel]
export const isSecret = (field: SettingsField): boolean => secrets.includes(field)

/** The settings as a form begins with them: secrets are empty, since nobody sees them again. */
export function settingsOf(connection: Connection): SettingsDraft {
  const { name, numberId, accountId, baseUrl, version } = connection
  const shown = { name, numberId, accountId: accountId ?? '', baseUrl: baseUrl ?? '', version: version ?? '' }
  return { ...shown, accessToken: '', appSecret: '', verifyToken: '', apiKey: '', signingSecret: '' }
}

/** Only what was changed, of the fields that the channel has: with another way to the platform it is checked again. */
export function changesOf(connection: Connection, draft: SettingsDraft): Partial<Record<SettingsField, string | null>> {
  const before = settingsOf(connection)
  const changed = fieldsOf(connection.channel).filter((field) => draft[field].trim() !== before[field])
  return Object.fromEntries(
    changed.map((field) => [field, field === 'accountId' && draft[field].trim() === '' ? null : draft[field].trim()]),
  )
}
