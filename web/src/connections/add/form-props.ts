import type { CreatedConnection } from '../../data/connections.ts'

/** What each way of connecting a number is given. */
export interface FormProps {
  workspaceId: string
  /** To the choice of ways. */
  back(): void
  close(): void
  onCreated(answer: CreatedConnection): void
}
