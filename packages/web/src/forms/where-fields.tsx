import { useBackends } from '../environments/guarantees.tsx';
import { backendChoices, onBackend, takesImages, type Where } from './choices.ts';
import { ChoiceField, LineField } from './field.tsx';

type Props = {
  readonly where: Where;
  readonly set: (change: Partial<Where>) => void;
  /** What was refused of a field. */
  readonly at: (field: string | null) => unknown;
};

/** The backend, and the image where it has images. */
export const BackendFields = ({ where, set, at }: Props) => {
  const backends = useBackends();
  const images = takesImages(backends, where.backend);
  return (
    <>
      <ChoiceField
        label="Backend"
        value={where.backend}
        change={(backend) => set(onBackend(backends, backend))}
        choices={backendChoices(backends)}
        // A project's own image may be refused where none can be named here.
        error={at('backend') ?? (images ? null : at('image'))}
      />
      {images ? (
        <LineField
          label="Image"
          hint="One that the operator allows. Left out: what is pinned for the project, else the project's own, else the backend's."
          value={where.image}
          change={(image) => set({ image })}
          error={at('image')}
        />
      ) : null}
    </>
  );
};
