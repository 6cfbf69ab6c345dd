import { violates } from '../../base/db.ts'

const maxAttempts = 5
const keys = ['conversations_user_key', 'conversations_phone_key', 'messages_external_key']

/**
 * Runs a transaction again that met another one about the same customer: two may learn of one at the same time, by
 * user id here and by phone there, and the later one sees the earlier's conversation when it looks again. So it is with two
 * that learn of one message.
 */
export async function withoutRace<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === maxAttempts || !keys.some((key) => violates(error, key))) throw error
    }
  }
}
