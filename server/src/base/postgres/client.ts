import type { Socket } from 'node:net'
import pg from 'pg'
import type { DatabaseAddress, DatabaseHost } from './address/address.ts'
import { AddressProblem } from './address/address-problem.ts'
import { guardGreeting } from './greeting.ts'

export interface Greeting {
  applicationName: string
  parameters: Readonly<Record<string, string>> | null
  types?: pg.CustomTypesConfig
}

/** A client of the driver over a socket that is open. Nothing of the environment or of a password file reaches it. */
export function makeClient(
  socket: Socket,
  host: DatabaseHost,
  address: DatabaseAddress,
  greeting: Greeting,
): pg.Client {
  const { database, user, tls } = address
  const binding: Binding = { isWanted: host.tls && tls?.bindsChannel === true, isOffered: false, isProven: false }
  guardGreeting(socket)
  const client = new pg.Client({
    host: host.host,
    port: host.port,
    database,
    user,
    // Without one the driver would look for a file of passwords.
    password: () => passwordOf(address, binding),
    stream: () => asUnopened(socket),
    // Each of these would be looked for in the environment if it were not given.
    ssl: false,
    sslnegotiation: 'postgres',
    client_encoding: 'UTF8',
    enableChannelBinding: binding.isWanted,
    pipeline: true,
    ...(greeting.types && { types: greeting.types }),
  })
  if (binding.isWanted) insistOnBinding(client, socket, binding)
  const startup = {
    user,
    database,
    application_name: greeting.applicationName,
    // A pooler knows these two, and keeps them for each of its clients.
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    ...greeting.parameters,
  }
  // The driver's own would add what variables of the environment say, and knows few parameters.
  return Object.assign(client, { getStartupConf: () => startup })
}

/** The driver opens its socket itself: this one tells it that it has. */
function asUnopened(socket: Socket): Socket {
  const connect = () => {
    queueMicrotask(() => socket.emit('connect'))
    return socket
  }
  return Object.assign(socket, { connect })
}

/** Whether the password is tied to the certificate of the server, so that nobody can stand between. */
interface Binding {
  isWanted: boolean
  isOffered: boolean
  isProven: boolean
}

function passwordOf({ password }: DatabaseAddress, binding: Binding): string {
  if (password === null) {
    throw new AddressProblem('names no password, and the server asks for one: write it there, or into PGPASSWORD')
  }
  if (binding.isWanted && !binding.isOffered)
    throw new Error('does not bind passwords to its certificate (channel_binding)')
  return password
}

function insistOnBinding({ connection }: pg.Client, socket: Socket, binding: Binding): void {
  connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: string[] }) => {
    binding.isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS')
  })
  connection.on('authenticationSASLFinal', () => {
    binding.isProven = true
  })
  connection.on('authenticationOk', () => {
    if (!binding.isProven)
      socket.destroy(new Error('lets us in without proof that it knows the password (channel_binding)'))
  })
}
