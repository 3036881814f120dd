// Marks the module's root for the go command and is otherwise unused: each build names one of versions/*.mod.
module registrar/test/kubelet

go 1.26.0
