import type { Sql, Tx } from '../../base/db.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { makeToken } from '../../base/sealing/secret-token.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import type { Visitor } from '../users/team-deps.ts'

/** From where a person came in: their browser by a token of its own, and the group of addresses. Keyed hashes. */
export interface Marks {
  device: Buffer | null
  place: Buffer | null
}

/** How long a browser or a place is known after the last sign-in from there. */
export const knownForMs = 90 * 24 * 3_600_000
const tokenShape = /^[\w-]{43}$/

/** The marks that a visitor would have as this user; as nobody, where there is none, for the same work. */
export function marksOf(
  instanceKeys: Keyring,
  userId: string | null,
  { address, deviceToken }: Pick<Visitor, 'address' | 'deviceToken'>,
): Marks {
  const mark = (what: string) => instanceKeys.stable('known_sign_ins.mark', `${userId ?? instanceScope} ${what}`)
  return {
    device: deviceToken !== null && tokenShape.test(deviceToken) ? mark(`device ${deviceToken}`) : null,
    place: address === null ? null : mark(`place ${addressGroup(address)}`),
  }
}

/** Those of the marks that are known. */
export async function knownMarks(sql: Sql, { device, place }: Marks): Promise<Marks> {
  const asked = [device, place].filter((mark) => mark !== null)
  if (asked.length === 0) return { device: null, place: null }
  const rows = await sql<{ mark: Buffer }[]>`
    select mark
    from known_sign_ins
    where mark = any (${byteaArray(asked)}::bytea[])`
  const known = (mark: Buffer | null) => (mark !== null && rows.some((row) => row.mark.equals(mark)) ? mark : null)
  return { device: known(device), place: known(place) }
}

/** Remembers from where the person came in, and returns the token that their browser is to keep. */
export async function rememberSignIn(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  { address, deviceToken }: Visitor,
  now: Date,
): Promise<string> {
  const token = deviceToken !== null && tokenShape.test(deviceToken) ? deviceToken : makeToken()
  const { device, place } = marksOf(instanceKeys, userId, { address, deviceToken: token })
  for (const mark of [device, place]) {
    if (mark === null) continue
    await tx`
      insert into known_sign_ins (mark, user_id, last_at)
      values (${mark}, ${userId}, ${now})
      on conflict (mark) do update
      set last_at = ${now}`
  }
  return token
}

/** When somebody else may have signed in as this person: nothing is known any more. */
export async function forgetSignIns(tx: Tx, userId: string): Promise<void> {
  await tx`
    delete from known_sign_ins
    where user_id = ${userId}`
}
