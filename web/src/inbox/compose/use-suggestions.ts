import { useMemo } from 'react'
import { useCannedReplies } from '../../data/canned-replies.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useMemberList } from '../../data/team/members.ts'
import { currentSession, currentUser, hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { dialablePhone } from '../../ui/format/phone.ts'
import type { TypeaheadSource } from './ComposeField.tsx'
import type { Mode } from './drafts.ts'
import { findMembers, findReplies, renderReply } from './typeahead.ts'

/** Returns the suggestions of the field: saved replies in a reply, colleagues in a note. */
export function useSuggestions(workspaceId: string, { contact }: Conversation, mode: Mode): TypeaheadSource {
  const { data: replies } = useCannedReplies(workspaceId)
  const members = useMemberList(workspaceId)
  return useMemo(() => {
    if (mode === 'note') {
      return {
        sign: '@',
        label: t.compose.colleagues,
        empty: t.common.none,
        find: (term) =>
          findMembers(members, term).map(({ userId, name }) => ({
            id: userId,
            title: name,
            detail: userId === currentUser().id ? t.common.me : '',
            insertText: `@${name} `,
          })),
      }
    }
    const workspace = currentSession().workspaces.find(({ id }) => id === workspaceId)?.name ?? ''
    // The number must be in a form that can be dialed.
    const phone = contact.phone === null ? null : dialablePhone(contact.phone)
    const facts = { contact: { name: contact.name, phone }, me: currentUser().name, workspace }
    return {
      sign: '/',
      label: t.compose.canned,
      empty: t.compose.noCanned,
      create: hasRole(workspaceId, 'admin')
        ? { label: t.compose.createCanned, to: `/w/${workspaceId}/settings/replies` }
        : undefined,
      find: (term) =>
        findReplies(replies ?? [], term).map(({ id, shortcut, text }) => {
          const insertText = renderReply(text, facts)
          return { id, title: `/${shortcut}`, detail: insertText, insertText }
        }),
    }
  }, [mode, members, replies, contact.name, contact.phone, workspaceId])
}
