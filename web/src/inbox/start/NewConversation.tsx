import { Button, Input } from '@mantine/core'
import { useState } from 'react'
import { StartPanel } from '../../shared/start/StartPanel.tsx'
import type { Recipient } from '../../shared/start/use-start.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { phoneLabel } from '../parts/inbox-texts.ts'
import styles from './NewConversation.module.css'
import { RecipientField } from './RecipientField.tsx'

interface NewConversationProps {
  open(conversationId: string): void
  close(): void
}

/** Starts a conversation with a contact found by name, number or e-mail, or with a new number. */
export default function NewConversation({ open, close }: NewConversationProps) {
  const [recipient, setRecipient] = useState<Recipient | null>(null)
  // Keeps the typed text for changes to the recipient.
  const [typed, setTyped] = useState('')
  const field = (problem: string | null) =>
    recipient === null ? (
      <RecipientField typed={typed} setTyped={setTyped} pick={setRecipient} problem={problem} />
    ) : (
      <Input.Wrapper label={t.start.recipient} labelElement="div" error={problem}>
        <div className={styles.chosen}>
          <Avatar name={recipient.name} size={28} />
          <span className={styles.who}>
            <strong dir="auto">{recipient.name}</strong>
            {phoneLabel(recipient.phone) !== recipient.name && (
              <span className={styles.hint}>{phoneLabel(recipient.phone)}</span>
            )}
          </span>
          <Button variant="subtle" size="compact-sm" onClick={() => setRecipient(null)}>
            {t.start.change}
          </Button>
        </div>
      </Input.Wrapper>
    )
  return <StartPanel title={t.inbox.start} recipient={recipient} recipientField={field} open={open} close={close} />
}
