import { isLoopback } from '../../outgoing/address.ts'
import type { Parameters } from './address-parameters.ts'
import { AddressProblem } from './address-parameters.ts'

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
  const rootCertificateFile = readRoot(parameters.get('sslrootcert'), given)
  const mode = strengthen(given, parameters.get('sslrootcert'))
  const isDirect = readDirect(parameters.get('sslnegotiation'), mode)
  const bindsChannel = readBinding(parameters.get('channel_binding'), mode, hosts)
  const client = readClient(parameters)
  if (mode === 'disable') return { tls: null, isEncrypted: () => false }

  const isEncrypted = (host: string) => !host.startsWith('/') && (given !== null || !isLoopback(host))
  const tls: DatabaseTls = { mode, rootCertificateFile, client, isDirect, bindsChannel }
  return { tls: hosts.some(isEncrypted) ? tls : null, isEncrypted }
}

function readMode(parameters: Parameters): Mode | null {
  const mode = parameters.get('sslmode')
  const flag = parameters.get('ssl')
  if (flag !== undefined) {
    if (flag === 'true' && mode === undefined) return 'require'
    throw new AddressProblem('must say sslmode=… instead of ssl=…')
  }
  // libpq does so for `system` alone, and lets a file be passed by. Who names an authority wants it asked.
  if (mode === undefined) return parameters.get('sslrootcert') === undefined ? null : 'verify-full'
  if (mode === 'allow') {
    throw new AddressProblem('has sslmode=allow, which nobody needs: take prefer, or better verify-full')
  }
  const known = modes.find((one) => one === mode)
  if (known === undefined) throw new AddressProblem(`must have one of ${modes.join(', ')} as its sslmode`)
  return known
}

function readRoot(root: string | undefined, mode: Mode | null): string | null {
  if (mode === 'prefer' && root !== undefined) {
    throw new AddressProblem('has sslrootcert with sslmode=prefer, which may do without TLS: take verify-full')
  }
  if (root === undefined || root === 'system') {
    if (mode === 'verify-ca' || (root === 'system' && mode === 'require')) {
      throw new AddressProblem(
        'lets any certificate pass that a public authority has given to anybody: take sslmode=verify-full, or sslrootcert with the file of your own authority',
      )
    }
    return null
  }
  if (root === '') throw new AddressProblem('must have a file as its sslrootcert, or the word system')
  return root
}

function strengthen(mode: Mode | null, root: string | undefined): Mode {
  return mode === 'require' && root !== undefined ? 'verify-ca' : (mode ?? 'prefer')
}

function readDirect(negotiation: string | undefined, mode: Mode): boolean {
  if (negotiation === undefined || negotiation === 'postgres') return false
  if (negotiation !== 'direct') throw new AddressProblem('must have postgres or direct as its sslnegotiation')
  if (mode === 'disable' || mode === 'prefer') {
    throw new AddressProblem('has sslnegotiation=direct, which needs sslmode=require or stronger')
  }
  return true
}

function readBinding(binding: string | undefined, mode: Mode, hosts: readonly string[]): boolean {
  if (binding === undefined || binding === 'disable' || binding === 'prefer') return false
  if (binding !== 'require') throw new AddressProblem('must have require, prefer or disable as its channel_binding')
  if (mode === 'disable' || mode === 'prefer' || hosts.some((host) => host.startsWith('/'))) {
    throw new AddressProblem('has channel_binding=require, which needs TCP and sslmode=require or stronger')
  }
  return true
}

function readClient(parameters: Parameters): DatabaseTls['client'] {
  const certificateFile = parameters.get('sslcert')
  const keyFile = parameters.get('sslkey')
  if (!certificateFile && !keyFile) return null
  if (!certificateFile || !keyFile) {
    throw new AddressProblem('must have both sslcert and sslkey, or neither')
  }
  return { certificateFile, keyFile }
}
