import type { Channel, Connection } from '../../data/connections.ts'
import { isOtherServer } from '../../ui/other-server.ts'

const settings = {
  waba: ['name', 'numberId', 'accountId', 'accessToken', 'appSecret', 'verifyToken', 'baseUrl', 'version'],
  partner: ['name', 'numberId', 'apiKey', 'signingSecret', 'baseUrl'],
  unofficial: ['name'],
} as const satisfies Record<Channel, readonly string[]>

export type SettingsField = (typeof settings)[Channel][number]
export type SettingsDraft = Record<SettingsField, string>

const secrets: readonly SettingsField[] = ['accessToken', 'appSecret', 'verifyToken', 'apiKey', 'signingSecret']

/** The secrets that the platform is shown. They are asked for again when its address is another server's. */
const shownToPlatform: readonly SettingsField[] = ['accessToken', 'apiKey']

export const fieldsOf = (channel: Channel): readonly SettingsField[] => settings[channel]
export const isSecret = (field: SettingsField): boolean => secrets.includes(field)

/** The settings as a form begins with them: secrets are empty, since nobody sees them again. */
export function settingsOf(connection: Connection): SettingsDraft {
  const { name, numberId, accountId, baseUrl, version } = connection
  const shown = { name, numberId, accountId: accountId ?? '', baseUrl: baseUrl ?? '', version: version ?? '' }
  return { ...shown, accessToken: '', appSecret: '', verifyToken: '', apiKey: '', signingSecret: '' }
}

/** Whether a secret has to be given again: what is set is for the server that it was given for. */
export function mustReenter(field: SettingsField, connection: Connection, draft: SettingsDraft): boolean {
  return shownToPlatform.includes(field) && isOtherServer(connection.baseUrl ?? '', draft.baseUrl.trim())
}

/** Only what was changed, of the fields that the channel has: with another way to the platform it is checked again. */
export function changesOf(connection: Connection, draft: SettingsDraft): Partial<Record<SettingsField, string | null>> {
  const before = settingsOf(connection)
  const changed = fieldsOf(connection.channel).filter((field) => draft[field].trim() !== before[field])
  return Object.fromEntries(
    changed.map((field) => [field, field === 'accountId' && draft[field].trim() === '' ? null : draft[field].trim()]),
  )
}
