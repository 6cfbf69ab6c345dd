import type { Channel } from '../../../src/channels/connection/connection.ts'
import type { InboundKind } from '../../../src/simulator/inbound.ts'

/** A message as it stands on a customer's phone. */
export interface OnPhone {
  from: 'customer' | 'business' | 'device'
  text: string
  status: string
}

/** A customer with a phone, who chats with one number. Each act resolves when the service has been told all of it. */
export interface Phone {
  /** Digits with country code. */
  phone: string
  writes(text: string): Promise<void>
  /** Sends something else than text. */
  shows(kind: InboundKind, text?: string): Promise<void>
  /** Presses a button, or a row of a list, of the newest message that offers some. */
  chooses(choiceId: string): Promise<void>
  reads(): Promise<void>
  /** Somebody at the business types on the number's own phone. */
  getsFromDevice(text: string): Promise<void>
  /** Oldest first. */
  chat(): Promise<OnPhone[]>
  /** All that the phone shows of them. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  screen(): Promise<any[]>
}

/** A number that a channel connects: what its platform lets go wrong, and who writes to it. */
export interface Line {
  connectionId: string
  customer(name?: string): Promise<Phone>
  /** The platform refuses the next message. */
  refuseNext(): Promise<void>
  /** From now on the service is told everything so many times more, and so many things at once in reverse. */
  tells(travel: { again?: number; reversed?: number }): Promise<void>
  /** Tells what a phone had before it was connected. */
  history(phone: string, text: string): Promise<void>
  /** Tells of a message to a number that is not connected here. */
  strange(): Promise<void>
  /** The platform takes the next message, and says nothing of it to anybody before `speaks`. */
  silenceNext(): Promise<void>
  /** The platform takes the next message, and takes its time to say so. */
  stallNext(): Promise<void>
  /** Resolves when the service has been told what was held back. */
  speaks(): Promise<void>
  /** The platform takes our credential no more. */
  disown(): Promise<void>
  /** It does again, and the connection has been put right as the channel wants it. */
  takeBack(): Promise<void>
}

/** What the suite needs of a channel. */
export interface Rig {
  channel: Channel
  hasTemplates: boolean
  /** It has buttons and lists to choose from. */
  hasChoices: boolean
  /** A member has to confirm the risk of it, anew whenever it was put right. */
  needsAcknowledgement: boolean
  /** How far a message has come that was typed on the number's own phone is told as well. */
  tellsOfEchoes: boolean
  /** A platform that disowns the number closes the line at once; others say so when they are asked. */
  hangsUp: boolean
  /** Connects a new number of the channel through the team's interface. */
  connect(stage: Stage): Promise<Line>
}

/** Where a rig builds. */
export interface Stage {
  /** Calls the simulator; throws unless the answer is a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  simulate(method: string, path: string, body?: object): Promise<any>
  /** The team's call below the workspace's connections; throws unless the answer is a success. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  connections(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<any>
  simulatorUrl: string
  /** A member confirms the risk of a connection, in person. */
  acknowledge(connectionId: string): Promise<void>
  /** Resolves when nothing is on its way any more between the platform and the service. */
  settled(): Promise<void>
}
