import { useMemo } from 'react'
import { useCannedReplies } from '../../data/canned-replies.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useMemberList } from '../../data/team/members.ts'
import { mayIn, me, session } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { plainPhone } from '../../ui/format/phone.ts'
import type { Offers } from './ComposeField.tsx'
import type { Mode } from './drafts.ts'
import { fillReply, findMembers, findReplies } from './typeahead.ts'

/** What the field offers: canned replies in a reply, colleagues in a note. */
export function useSuggestions(workspaceId: string, { contact }: Conversation, mode: Mode): Offers {
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
            detail: userId === me().id ? t.common.me : '',
            words: `@${name} `,
          })),
      }
    }
    const workspace = session().workspaces.find(({ id }) => id === workspaceId)?.name ?? ''
    // Who is sent a number is to be able to dial it.
    const phone = contact.phone === null ? null : plainPhone(contact.phone)
    const facts = { contact: { name: contact.name, phone }, me: me().name, workspace }
    return {
      sign: '/',
      label: t.compose.canned,
      empty: t.compose.noCanned,
      ...(mayIn(workspaceId, 'admin') && {
        make: { label: t.compose.makeCanned, to: `/w/${workspaceId}/settings/replies` },
      }),
      find: (term) =>
        findReplies(replies ?? [], term).map(({ id, shortcut, text }) => {
          const words = fillReply(text, facts)
          return { id, title: `/${shortcut}`, detail: words, words }
        }),
    }
  }, [mode, members, replies, contact.name, contact.phone, workspaceId])
}
