import type { Connector } from './connector.ts'

/** Stands for a channel that this installation has no way out to. */
export const noConnector: Connector = {
  maxTextLength: null,
  send: async () => ({ outcome: 'refused', errorCode: 'channel_not_installed', effect: 'none' }),
  markRead: async () => {},
}
