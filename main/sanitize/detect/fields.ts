/** JSON fields whose names say that they hold personal data. */
import { AnchorFlag } from '../scan/layout.js';
import { snakeCase } from './key-names.js';
import { add, addHost, addPerson, addUser, NAME } from './people.js';
import { specialField } from './special-fields.js';
import type { Anchored, Detector } from './text-view.js';

const USER =
  /^(?:login|logname|os_user|assignee|actor|triggered_by|committer_login|author_login|preferred_username|sam_account_name|unix_user|user_login)$/;
const HOST = /^(?:host_?name|computer_?name|machine_?name|node_?name|local_?host_?name|device_name|fqdn)$/;
const PERSON =
  /^(?:full_?name|display_?name|real_?name|first_?name|last_?name|given_?name|family_?name|surname|author|author_name|committer_name|maintainer|customer_name|contact_name|card_?holder(?:_name)?|holder_name|account_holder|legal_name|reviewer|approved_by)$/;
const SERIAL = /^(?:serial(?:_number)?|machine_id|hardware_uuid|device_id|platform_uuid)$/;

/** `"name"` holds a person's name where a mail address stands in the same object. */
const FULL_NAME = new RegExp(`^${NAME}$`);
const SIGNED = new RegExp(`^(${NAME}) ?[<(]`);

/** The whole text is the value of the field `view.key`. */
export const personField: Detector = (view) => {
  if (specialField(view)) return;
  const { text } = view;
  const value = text.trim();
  if (value.length < 2 || value.length > 120 || /[\n\t{}()[\]]/.test(value)) return;
  const name = snakeCase(view.key);
  const signed = SIGNED.exec(value);
  const at = text.indexOf(value);
  if (signed && PERSON.test(name)) addPerson(view, at, signed[1]!);
  else if (USER.test(name) && /^[a-z][\w.-]{1,31}$/i.test(value) && !/[A-Z].*[A-Z].*[A-Z]/.test(value))
    addUser(view, at, value);
  else if (HOST.test(name) && /^[A-Za-z0-9][A-Za-z0-9.-]{2,80}$/.test(value)) addHost(view, at, value);
  else if (
    PERSON.test(name) &&
    /^[A-Z\u00c0-\u00ff][A-Za-z\u0080-\u00ff'.-]{0,40}(?: [A-Za-z\u0080-\u00ff'.-]{1,40}){0,4}$/.test(value) &&
    (value.includes(' ') || /^(?:first|last|given|family|sur)/.test(name))
  )
    addPerson(view, at, value);
  else if (name === 'name' && FULL_NAME.test(value) && /"e-?mail|"login"|"username"/i.test(view.around()))
    addPerson(view, at, value);
  else if (SERIAL.test(name) && /\d/.test(value) && /^[A-Za-z0-9-]{8,40}$/.test(value)) add(view, at, value, 'serial');
};

export const FIELDS_OF_PERSONS: Anchored[] = [
  {
    anchors:
      'user login logname owner host computer machine node_name nodename device fqdn name author committer maintainer assignee actor created_by createdby reviewer approved holder serial account tenant subscription',
    flags: AnchorFlag.personKey,
    detector: personField,
  },
];
