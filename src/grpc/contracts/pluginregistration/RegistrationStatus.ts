// Original file: proto/pluginregistration.proto


export interface RegistrationStatusInput {
  'pluginRegistered'?: (boolean);
  /**
   * Kubelet's reason when it refused.
   */
  'error'?: (string);
}

export interface RegistrationStatus {
  'pluginRegistered': (boolean);
  /**
   * Kubelet's reason when it refused.
   */
  'error': (string);
}
