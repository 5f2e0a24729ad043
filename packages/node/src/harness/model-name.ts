import { OrreryError } from '@orrery/protocol/errors';

/** Splits `provider/model` at the first slash; a bare name belongs to the adapter's own provider. */
export const splitModel = (model: string, ownProvider: string): { readonly provider: string; readonly model: string } => {
  const slash = model.indexOf('/');
  return slash === -1 ? { provider: ownProvider, model } : { provider: model.slice(0, slash), model: model.slice(slash + 1) };
};

/** The model's name for a program that speaks to one provider only. @throws OrreryError unsupported for another provider */
export const ownModel = (model: string, harness: { readonly id: string; readonly provider: string }): string => {
  const split = splitModel(model, harness.provider);
  if (split.provider === harness.provider) return split.model;
  throw new OrreryError('unsupported', `The harness ${harness.id} cannot use the model ${model}.`, {
    rule: `It speaks to models of ${harness.provider} only.`,
    fix: `Name a model as ${harness.provider}/<model>, or take another harness: orrery run --harness pi`,
  });
};
