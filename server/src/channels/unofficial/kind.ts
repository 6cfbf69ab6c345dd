import type { SessionConnection } from '../connection/connection.ts'
import { type Kind, nothingShown } from '../kind.ts'

export const sessionKind: Kind<SessionConnection> = {
  hasTemplates: false,
  // The pairing tells the number; until then nothing else has this one.
  begin: ({ baseUrl }, id) => ({ numberId: id, accountId: null, settings: { baseUrl: baseUrl ?? null } }),
  changes: [],
  secretsSent: [],
  change: ({ numberId, accountId, settings }) => ({ numberId, accountId, settings }),
  show: ({ settings: { baseUrl } }) => ({ ...nothingShown, baseUrl }),
  webhookPath: () => null,
  verifyToken: () => null,
}
