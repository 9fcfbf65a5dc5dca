import type { CleanField, CleanKind, CleanRecord, TextPart } from '../../contract/clean-calls.js';
import { isMarked } from '../logic/clean.js';
import { formatBytes } from '../logic/format.js';
import { visibleText } from '../logic/visible-text.js';
import { useCleanPage } from '../stores/clean-page.js';
import { S } from '../strings.js';

/** Places of a record that are named in its head. */
const NAMED = 12;

export function CleanRecordView({ record }: { record: CleanRecord }) {
  const { whole, toggleWhole } = useCleanPage();
  const isWhole = whole.has(record.record);
  return (
    <li className="clean-record">
      <header className="clean-record-head">
        <h2>{S.clean.record(record.record)}</h2>
        <span className="faint">{S.clean.who[record.who] ?? record.who}</span>
        <span className="faint num">{formatBytes(record.bytes)}</span>
        <Places record={record} />
        <button
          type="button"
          className="unfold"
          aria-expanded={isWhole}
          onClick={() => void toggleWhole(record.record)}
        >
          {isWhole ? S.clean.fold : S.clean.whole}
        </button>
      </header>
      {record.withheld && <p className="clean-withheld">{S.clean.withheld}</p>}
      {record.fields.map((field) => (
        <Field key={`${field.path} ${field.isKey}`} field={field} kinds={record.places} />
      ))}
      {record.hiddenFields > 0 && <p className="faint clean-more">{S.clean.hiddenFields(record.hiddenFields)}</p>}
    </li>
  );
}

type Named = CleanRecord['places'];

/** The keyboard's way to a place. */
function Places({ record }: { record: CleanRecord }) {
  const { selected, kinds, select } = useCleanPage();
  const name = (kind: number): CleanKind | undefined => kinds.find((one) => one.kind === kind);
  const shown = record.places.slice(0, NAMED);
  const more = record.places.length - shown.length + record.hiddenPlaces;
  return (
    <span className="clean-places">
      {shown.map(({ place, kind }) => (
        <button
          key={place}
          type="button"
          className={name(kind)?.low ? 'clean-chip clean-chip-low' : 'clean-chip'}
          aria-pressed={place === selected}
          onClick={() => select(place)}
        >
          {name(kind)?.placeholder ?? S.none}
        </button>
      ))}
      {more > 0 && <span className="faint">{S.clean.morePlaces(more)}</span>}
    </span>
  );
}

function Field({ field, kinds }: { field: CleanField; kinds: Named }) {
  return (
    <div className="clean-field">
      <p className="clean-path">
        <code>{visibleText(field.path)}</code>
        {field.isKey && <span className="faint"> {S.clean.keyField}</span>}
        {!isMarked(field) && <span className="faint"> {S.clean.notAligned}</span>}
      </p>
      <div className="clean-sides">
        <Side parts={field.original} kinds={kinds} side="original" />
        {field.clean === null ? (
          <p className="clean-text clean-gone">{S.clean.withheld}</p>
        ) : (
          <Side parts={field.clean} kinds={kinds} side="clean" />
        )}
      </div>
    </div>
  );
}

interface SideProps {
  parts: TextPart[];
  kinds: Named;
  side: 'original' | 'clean';
}

/** Text of a session: always text, never markup. */
function Side({ parts, kinds, side }: SideProps) {
  const { selected, kinds: all } = useCleanPage();
  const low = (place: number): boolean => {
    const kind = kinds.find((one) => one.place === place)?.kind;
    return all.find((one) => one.kind === kind)?.low ?? false;
  };
  return (
    <pre className={`clean-text clean-${side}`} data-original={side === 'original' ? '' : undefined}>
      {parts.map(({ text, place, hidden }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
        <span key={i}>
          {place === null ? (
            visibleText(text)
          ) : (
            <mark
              data-place={place}
              className={`${low(place) ? 'mark-low' : ''} ${place === selected ? 'mark-on' : ''}`}
            >
              {visibleText(text)}
            </mark>
          )}
          {hidden > 0 && (
            <span className="clean-hidden" data-hidden="">
              {S.clean.hidden(hidden)}
            </span>
          )}
        </span>
      ))}
    </pre>
  );
}
