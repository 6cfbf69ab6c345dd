import { isLoopback } from '../../outgoing/address.ts'
import { AddressProblem, type Parameters, refuseIf } from './address-parameters.ts'

export interface DatabaseTls {
  mode: 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** The file of the authorities that are believed; null for those that Node knows. */
  rootCertificateFile: string | null
  /** Whom the server takes us for, where it asks for a certificate. */
  client: { certificateFile: string; keyFile: string } | null
  /** Begins with TLS rather than asks for it. */
  isDirect: boolean
  /** Gives the password only to whoever holds the certificate that the server vouches for. */
  bindsChannel: boolean
}

const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/**
 * As libpq reads it, but that where nothing is said nothing is encrypted to this machine itself. TLS is never spoken by a
 * Unix socket.
 */
export function readTls(
  parameters: Parameters,
  hosts: readonly string[],
): { tls: DatabaseTls | null; isEncrypted: (host: string) => boolean } {
  const given = readMode(parameters)
  const root = parameters.get('sslrootcert')
  refuseIf(root === '', 'must have a file as its sslrootcert, or the word system')
  refuseIf(
    given === 'prefer' && root !== undefined,
    'has sslrootcert with sslmode=prefer, which may do without TLS: take verify-full',
  )
  const isPublic = root === undefined || root === 'system'
  refuseIf(
    isPublic && (given === 'verify-ca' || (root === 'system' && given === 'require')),
    'lets any certificate pass that a public authority has given to anybody: take sslmode=verify-full, or sslrootcert with the file of your own authority',
  )
  const mode = given === 'require' && root !== undefined ? 'verify-ca' : (given ?? 'prefer')
  const isStrong = mode !== 'disable' && mode !== 'prefer'

  const negotiation = parameters.get('sslnegotiation') ?? 'postgres'
  const isDirect = negotiation === 'direct'
  refuseIf(!isDirect && negotiation !== 'postgres', 'must have postgres or direct as its sslnegotiation')
  refuseIf(isDirect && !isStrong, 'has sslnegotiation=direct, which needs sslmode=require or stronger')

  const binding = parameters.get('channel_binding') ?? 'prefer'
  const bindsChannel = binding === 'require'
  refuseIf(
    !bindsChannel && binding !== 'disable' && binding !== 'prefer',
    'must have require, prefer or disable as its channel_binding',
  )
  refuseIf(
    bindsChannel && (!isStrong || hosts.some((host) => host.startsWith('/'))),
    'has channel_binding=require, which needs TCP and sslmode=require or stronger',
  )

  const [certificateFile, keyFile] = [parameters.get('sslcert'), parameters.get('sslkey')]
  refuseIf(!certificateFile !== !keyFile, 'must have both sslcert and sslkey, or neither')
  const client = certificateFile && keyFile ? { certificateFile, keyFile } : null

  if (mode === 'disable') return { tls: null, isEncrypted: () => false }
  const isEncrypted = (host: string) => !host.startsWith('/') && (given !== null || !isLoopback(host))
  const tls: DatabaseTls = { mode, rootCertificateFile: isPublic ? null : root, client, isDirect, bindsChannel }
  return { tls: hosts.some(isEncrypted) ? tls : null, isEncrypted }
}

/** Null where nothing is said. */
function readMode(parameters: Parameters): Mode | null {
  const [mode, flag] = [parameters.get('sslmode'), parameters.get('ssl')]
  refuseIf(flag !== undefined && (flag !== 'true' || mode !== undefined), 'must say sslmode=… instead of ssl=…')
  if (flag !== undefined) return 'require'
  // libpq does so for `system` alone, and lets a file be passed by. Who names an authority wants it asked.
  if (mode === undefined) return parameters.has('sslrootcert') ? 'verify-full' : null
  refuseIf(mode === 'allow', 'has sslmode=allow, which nobody needs: take prefer, or better verify-full')
  const known = modes.find((one) => one === mode)
  if (known === undefined) throw new AddressProblem(`must have one of ${modes.join(', ')} as its sslmode`)
  return known
}
