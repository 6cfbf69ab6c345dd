import type { CreatedConnection } from '../../data/connections.ts'

export interface FormProps {
  workspaceId: string
  /** Returns to the choice of channels. */
  back(): void
  close(): void
  onCreated(response: CreatedConnection): void
}
