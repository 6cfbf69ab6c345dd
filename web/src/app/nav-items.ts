import {
  IconBook,
  IconChartBar,
  IconCheckbox,
  IconChecklist,
  IconCoin,
  IconForms,
  IconHome,
  IconInbox,
  IconKey,
  IconPlugConnected,
  IconRoute,
  IconSettings,
  IconSpeakerphone,
  IconTemplate,
  IconTestPipe,
  IconUsers,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react'
import type { Role } from '../session/session.ts'
import { t } from '../text/index.ts'

export interface NavItem {
  path: string
  title: () => string
  icon: TablerIcon
  /** Second key after `G`. */
  key: string
  /** Pages for daily work are above the divider, setup pages below it. */
  place: 'day' | 'setup'
  role: Role
}

const page = (
  path: keyof typeof t.common.pages,
  icon: TablerIcon,
  key: string,
  place: NavItem['place'],
  role: Role = 'member',
): NavItem => ({ path, title: () => t.common.pages[path], icon, key, place, role })

export const navItems: readonly NavItem[] = [
  page('home', IconHome, 'h', 'day'),
  page('inbox', IconInbox, 'i', 'day'),
  page('leads', IconUsers, 'l', 'day'),
  page('forms', IconForms, 'f', 'day'),
  page('tasks', IconCheckbox, 'd', 'day'),
  page('broadcasts', IconSpeakerphone, 'm', 'setup'),
  page('sequences', IconRoute, 'q', 'setup'),
  page('knowledge', IconBook, 'a', 'setup'),
  page('connections', IconPlugConnected, 'c', 'setup'),
  page('templates', IconTemplate, 't', 'setup'),
  page('scenarios', IconTestPipe, 'a', 'setup'),
  page('keys', IconKey, 'k', 'setup'),
  page('webhooks', IconWebhook, 'w', 'setup'),
  page('review', IconChecklist, 'r', 'setup'),
  page('reports', IconChartBar, 'p', 'setup'),
  page('costs', IconCoin, 'b', 'setup', 'admin'),
  page('settings', IconSettings, 's', 'setup'),
]
